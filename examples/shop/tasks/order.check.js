// Looks every line up: an order of what there is not, or not enough of, is refused with 409.
function handleEvent(headers, input, instance) {
  if (!Array.isArray(input.lines) || input.lines.length === 0) {
    throw new IllegalArgumentException("'lines' must be a list of items and counts");
  }
  let total = 0;
  for (const line of input.lines) {
    const item = items[line.item];
    if (!item) throw new AppException(409, 'there is no ' + line.item);
    if (item.stock < line.count) throw new AppException(409, 'only ' + item.stock + ' of ' + item.name + ' left');
    total += line.count * item.price;
  }
  return {lines: input.lines, total: total};
}
