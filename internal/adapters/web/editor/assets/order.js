// Orders of blocks: what moved between two.

/** The most ids that come in the same order in both lists. */
export const unmoved = (before, after) => {
  const places = new Map(before.map((id, i) => [id, i]));
  const ends = []; // of increasing runs, by their length: an index of after
  const previous = [];
  after.forEach((id, i) => {
    const place = places.get(id);
    if (place === undefined) return;
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (places.get(after[ends[middle]]) < place) low = middle + 1;
      else high = middle;
    }
    previous[i] = low ? ends[low - 1] : -1;
    ends[low] = i;
  });
  const stays = new Set();
  for (let i = ends.length ? ends[ends.length - 1] : -1; i >= 0; i = previous[i]) stays.add(after[i]);
  return stays;
};

/** Makes the changes of an update in a list of ids. */
export const reorder = (order, changes) => {
  const gone = new Set(changes.filter((c) => c.removed || c.after !== undefined).map((c) => c.id));
  if (!gone.size) return order;
  const next = new Map(); // what comes behind an id, the last that was put there first
  for (const { id, after, removed } of changes) {
    if (removed || after === undefined) continue;
    if (!next.has(after)) next.set(after, []);
    next.get(after).push(id);
  }
  const made = [];
  const add = (first) => {
    for (const open = [first]; open.length; ) {
      const id = open.pop();
      made.push(id);
      open.push(...(next.get(id) ?? []).toReversed());
    }
  };
  for (const behind of next.get("") ?? []) add(behind);
  for (const id of order) if (!gone.has(id)) add(id);
  return made;
};

/** Where a place in a text is after the text changed: what is before and behind the change stays. */
export const shift = (before, after, place) => {
  let head = 0;
  const least = Math.min(before.length, after.length);
  while (head < least && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < least - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  if (place <= head) return place;
  if (place >= before.length - tail) return place + after.length - before.length;
  return Math.min(place, after.length - tail);
};
