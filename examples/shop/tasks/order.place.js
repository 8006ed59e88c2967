// One commit: the stock of each line's item and the order. Runs again when somebody else changed an item meanwhile.
function handleEvent(headers, input, instance) {
  for (const line of input.lines) {
    const item = items[line.item];
    if (item.stock < line.count) throw new AppException(409, 'only ' + item.stock + ' of ' + item.name + ' left');
    item.stock -= line.count;
    items[line.item] = item;
  }
  const id = 'order::' + input.number;
  orders[id] = {customer: input.customer, lines: input.lines, state: 'open'};
  return {id: id};
}
