// Keeps shop.inventory.totals: what each order costs, at the prices of when it last changed.
function OnUpdate(order, meta) {
  let total = 0;
  for (const line of order.lines || []) {
    const item = items[line.item];
    if (item && item.price) total += line.count * item.price;
  }
  totals[meta.id] = {customer: order.customer, total: total};
}

function OnDelete(meta) {
  delete totals[meta.id];
}
