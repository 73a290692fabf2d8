// What a search of many boards leaves in memory: of each root what its four moves and itself are worth, then counters.
#pragma once

constexpr int MOST_LEVELS = 6;
constexpr int FOUND = 5;             // doubles of a root
constexpr double ILLEGAL = -1e300;   // of a move
// Counters (unsigned long long): of each level its boards, and its items from ITEMS on; FULL: it has found no room.
constexpr int ITEMS = MOST_LEVELS, FULL = 2 * MOST_LEVELS, LEAVES = FULL + 1, ARRIVED = FULL + 2, COUNTERS = FULL + 3;
