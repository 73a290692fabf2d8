"""When a sleeping rank looks at its mail, against the sleeps one by one."""

import pytest

from distsearch.cluster.backoff import pause, wake_up


def test_naps_grow_within_bounds():
    sleeps, idle = [], 0.0
    while idle < 2:
        sleeps.append(pause(idle))
        idle += sleeps[-1]
    assert sleeps[0] == 50e-6
    assert max(sleep for sleep in sleeps[:100]) == 1e-3
    assert sleeps[-1] == 5e-3


@pytest.mark.parametrize("arrival", [0, 1e-6, 3e-4, 0.01, 0.5, 0.9999, 1.0, 1.5, 60])
def test_wake_up_is_the_end_of_the_nap_in_which_mail_comes(arrival):
    now = 0.0
    while now < arrival:
        now += pause(now)
    assert wake_up(7, 7 + arrival) == pytest.approx(7 + now, abs=6e-3 if arrival > 1 else 1e-6)
    assert wake_up(7, 7 + arrival) >= 7 + arrival
