// Large orders of customers that nobody knows yet are looked at by a person: they are put on the
// list `checks`, and taken off it when they become smaller or go away.
function OnUpdate(order, meta) {
  const customer = customers[order.customer]; // undefined if there is none
  const trusted = customer !== undefined && customer.orders_paid > 0;
  if (order.total < large_total || trusted) {
    delete checks[meta.id]; // no error when it was not there
    return;
  }
  checks[meta.id] = {
    customer: order.customer,
    total: order.total,
    reason: customer === undefined ? 'unknown customer' : 'first order',
    since: new Date().toISOString(),
  };
  log('to be checked:', meta.id); // sluice fn logs check_orders
}

function OnDelete(meta) {
  delete checks[meta.id];
}
