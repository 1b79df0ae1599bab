//! The screen of `mxd watch`.

use mxd_core::show::one_line;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, List, ListItem, ListState, Paragraph};

use super::model::{Model, Wanted};

/// Below this width the tree stands above the lines and not beside them.
const NARROW: u16 = 90;

pub(super) fn draw(frame: &mut Frame<'_>, model: &mut Model) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(4), Constraint::Length(2)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(header(model)).style(Style::new().add_modifier(Modifier::BOLD)), head);
    let [tree, lines] = if frame.area().width < NARROW {
        Layout::vertical([Constraint::Percentage(45), Constraint::Percentage(55)]).areas(body)
    } else {
        Layout::horizontal([Constraint::Percentage(45), Constraint::Percentage(55)]).areas(body)
    };
    draw_tree(frame, tree, model);
    draw_lines(frame, lines, model);
    frame.render_widget(Paragraph::new(footer(model)), foot);
}

fn header(model: &Model) -> String {
    let active = model
        .tree
        .tasks
        .iter()
        .filter(|task| task.agent.as_ref().is_some_and(|agent| agent.state.is_active()));
    let cost: f64 = model.tree.tasks.iter().map(|task| task.cost_usd).sum();
    let waiting = model.needs.approvals.len() + model.needs.clarifications.len();
    let needs = if waiting == 0 { String::new() } else { format!("  ·  {waiting} wait for you (a)") };
    format!(" {}  ·  {} at work  ·  ${cost:.2}{needs}", one_line(&model.name, 40), active.count())
}

fn draw_tree(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let rows = model.rows();
    let width = usize::from(area.width.saturating_sub(2));
    let chosen = rows.iter().position(|row| Some(&row.id) == model.chosen.as_ref());
    let items: Vec<ListItem<'_>> = rows.iter().map(|row| ListItem::new(row.plain(width))).collect();
    let list = List::new(items)
        .block(Block::new().borders(Borders::RIGHT))
        .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(list, area, &mut ListState::default().with_selected(chosen));
}

fn draw_lines(frame: &mut Frame<'_>, area: Rect, model: &mut Model) {
    let height = usize::from(area.height);
    let all = model.lines().len();
    model.back = model.back.min(all.saturating_sub(height));
    let end = all - model.back;
    let shown: Vec<Line<'_>> = model.lines()[end.saturating_sub(height)..end]
        .iter()
        .map(|line| Line::from(one_line(line, usize::from(area.width).saturating_sub(2))))
        .collect();
    frame.render_widget(Paragraph::new(shown), area);
}

fn footer(model: &Model) -> String {
    match &model.typing {
        Some(typing) => {
            let whom = match typing.what {
                Wanted::Message => "message",
                Wanted::Answer { .. } => "answer",
            };
            format!("{}\n{whom} › {}▏", one_line(&model.note, 200), typing.text)
        }
        None => {
            let keys = "↑↓ choose  Enter write  s stop  i interrupt  a answer  c collapse  q quit";
            format!("{}\n{keys}", one_line(&model.note, 200))
        }
    }
}
