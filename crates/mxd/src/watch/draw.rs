//! The screen of `mxd watch`.

use anstyle::AnsiColor;
use mxd_core::show::one_line;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, List, ListItem, ListState, Padding, Paragraph};

use super::call::Shown;
use super::foot;
use super::model::Model;
use super::rows::{start_of, wrapped};
use crate::tree_text;

/// Below this width the tree stands above the lines and not beside them.
const NARROW: u16 = 90;
/// The part of the screen that the tree may take, in percent.
const TREE: u16 = 45;

pub(super) fn draw(frame: &mut Frame<'_>, model: &mut Model) {
    let area = frame.area();
    let most = usize::from(area.height / 2);
    let at_foot = foot::rows(model, usize::from(area.width), most);
    let height = u16::try_from(at_foot.len()).unwrap_or(u16::MAX);
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(height)]).areas(area);
    frame.render_widget(Paragraph::new(header(model)).style(Style::new().add_modifier(Modifier::BOLD)), head);
    match &mut model.shown {
        Some(shown) => draw_call(frame, body, shown),
        None => draw_body(frame, body, model),
    }
    frame.render_widget(Paragraph::new(lines_of(&at_foot)), foot);
}

fn lines_of(rows: &[String]) -> Vec<Line<'_>> {
    rows.iter().map(|row| Line::from(row.as_str())).collect()
}

/// The tree, and what the chosen task says.
fn draw_body(frame: &mut Frame<'_>, body: Rect, model: &mut Model) {
    let narrow = body.width < NARROW;
    let [tree, lines] = if narrow {
        // A small tree leaves the room to what is said.
        let most = body.height.saturating_mul(TREE) / 100;
        let rows = u16::try_from(model.rows().len()).unwrap_or(u16::MAX).clamp(1, most.max(1));
        Layout::vertical([Constraint::Length(rows), Constraint::Min(3)]).areas(body)
    } else {
        Layout::horizontal([Constraint::Percentage(TREE), Constraint::Min(20)]).areas(body)
    };
    draw_tree(frame, tree, model);
    let side = if narrow { Borders::TOP } else { Borders::LEFT };
    let space = if narrow { Padding::ZERO } else { Padding::left(1) };
    let block = Block::new().borders(side).border_style(dim()).padding(space).title(title(model, narrow));
    let inside = block.inner(lines);
    frame.render_widget(block, lines);
    draw_lines(frame, inside, model);
}

/// A call alone, so that nothing else can be taken for it.
fn draw_call(frame: &mut Frame<'_>, area: Rect, shown: &mut Shown) {
    let block = Block::new().borders(Borders::TOP).title(start_of(&shown.title(), usize::from(area.width)));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    // The last row says whether this is all.
    let height = usize::from(inside.height.saturating_sub(1));
    let (rows, above, below) = shown.look(usize::from(inside.width), height);
    let mut seen = lines_of(&rows);
    if above + below > 0 {
        let told = format!("cut: {above} rows above, {below} rows below (PgUp PgDn)");
        seen.push(Line::from(start_of(&told, usize::from(inside.width))).style(dim()));
    }
    frame.render_widget(Paragraph::new(seen), inside);
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// Whose lines these are.
fn title(model: &Model, narrow: bool) -> String {
    let chosen = model.chosen.as_deref().and_then(|id| model.tree.get(id));
    let lead = if narrow { "─ " } else { " " };
    chosen.map(|task| format!("{lead}{} ", one_line(&task.title, 60))).unwrap_or_default()
}

fn header(model: &Model) -> String {
    let active = model
        .tree
        .tasks
        .iter()
        .filter(|task| task.agent.as_ref().is_some_and(|agent| agent.state.is_active()));
    // The sum of nothing is less than nothing.
    let cost = model.tree.tasks.iter().fold(0.0, |sum, task| sum + task.cost_usd);
    let waiting = model.needs.approvals.len() + model.needs.clarifications.len();
    let needs = if waiting == 0 { String::new() } else { format!("  ·  {waiting} wait for you (a)") };
    let asked = if model.on_the_way == 0 { "" } else { "  ·  asking the daemon" };
    format!(" {}  ·  {} at work  ·  ${cost:.2}{needs}{asked}", one_line(&model.name, 40), active.count())
}

fn draw_tree(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let rows = model.rows();
    let width = usize::from(area.width.saturating_sub(1));
    let chosen = rows.iter().position(|row| Some(&row.id) == model.chosen.as_ref());
    let item = |row: &tree_text::Line| {
        let parts = row.parts(width).into_iter();
        ListItem::new(Line::from_iter(parts.map(|(style, text)| Span::styled(text, shown(style)))))
    };
    let items: Vec<ListItem<'_>> = rows.iter().map(item).collect();
    let list = List::new(items).highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(list, area, &mut ListState::default().with_selected(chosen));
}

/// A style of the command line, on this screen.
fn shown(style: anstyle::Style) -> Style {
    let mut made = Style::new();
    if let Some(anstyle::Color::Ansi(colour)) = style.get_fg_color() {
        made = made.fg(match colour {
            AnsiColor::Green => Color::Green,
            AnsiColor::Yellow => Color::Yellow,
            AnsiColor::Red => Color::Red,
            AnsiColor::Cyan => Color::Cyan,
            _ => Color::Reset,
        });
    }
    if style.get_effects().contains(anstyle::Effects::DIMMED) {
        made.add_modifier(Modifier::DIM)
    } else {
        made
    }
}

fn draw_lines(frame: &mut Frame<'_>, area: Rect, model: &mut Model) {
    let (height, width) = (usize::from(area.height), usize::from(area.width));
    // From the newest line back, only as far as can be seen.
    let wanted = height.saturating_add(model.back);
    let mut rows: Vec<String> = Vec::new();
    for line in model.lines().iter().rev() {
        if rows.len() >= wanted {
            break;
        }
        rows.extend(wrapped(&tree_text::readable(&model.tree, line), width).into_iter().rev());
    }
    model.back = model.back.min(rows.len().saturating_sub(height));
    let seen = rows.iter().skip(model.back).take(height).rev();
    let seen: Vec<Line<'_>> = seen.map(|row| Line::from(row.as_str())).collect();
    frame.render_widget(Paragraph::new(seen), area);
}
