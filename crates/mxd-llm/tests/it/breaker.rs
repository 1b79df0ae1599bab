//! The rule of the breaker, with a clock in the test's hand.

use std::time::Duration;

use mxd_llm::{Admission, BreakerSettings, Circuit};

const COOLDOWN: Duration = Duration::from_secs(5);

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn circuit() -> Circuit {
    Circuit::new(BreakerSettings { failures: 3, cooldown: COOLDOWN, max_cooldown: at(15) })
}

fn opened() -> Circuit {
    let mut circuit = circuit();
    (0..3).for_each(|_| circuit.call_failed(at(100)));
    circuit
}

#[test]
fn failures_in_a_row_open_it() {
    let mut circuit = circuit();
    circuit.call_failed(at(100));
    circuit.call_failed(at(100));
    circuit.call_completed();
    circuit.call_failed(at(100));
    circuit.call_failed(at(100));
    assert_eq!(circuit.admit(at(100)), Admission::Pass);
    circuit.call_failed(at(100));
    assert_eq!(circuit.admit(at(102)), Admission::Wait(at(3)));
}

#[test]
fn one_probe_goes_out_and_the_others_wait_for_it() {
    let mut circuit = opened();
    assert_eq!(circuit.admit(at(105)), Admission::Probe);
    assert_eq!(circuit.admit(at(105)), Admission::Wait(COOLDOWN));
    assert_eq!(circuit.admit(at(999)), Admission::Wait(COOLDOWN));
    circuit.probe_answered();
    assert_eq!(circuit.admit(at(999)), Admission::Pass);
    circuit.call_failed(at(999));
    assert_eq!(circuit.admit(at(999)), Admission::Pass, "it counts from the beginning");
}

#[test]
fn failed_probes_double_the_wait_up_to_a_limit() {
    let mut circuit = opened();
    let mut now = at(105);
    for wait in [10, 15, 15] {
        assert_eq!(circuit.admit(now), Admission::Probe);
        circuit.probe_failed(now);
        assert_eq!(circuit.admit(now), Admission::Wait(at(wait)));
        now += at(wait);
    }
}

#[test]
fn a_probe_that_is_given_up_leaves_its_place_to_the_next() {
    let mut circuit = opened();
    assert_eq!(circuit.admit(at(105)), Admission::Probe);
    circuit.probe_abandoned(at(106));
    assert_eq!(circuit.admit(at(106)), Admission::Probe);
}

#[test]
fn calls_from_before_do_not_disturb_an_open_breaker() {
    let mut circuit = opened();
    circuit.call_completed();
    circuit.call_failed(at(104));
    assert_eq!(circuit.admit(at(104)), Admission::Wait(at(1)));
}
