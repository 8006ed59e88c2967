// What each order costs in euros, at the rate that a web service tells.
function OnUpdate(order, meta) {
  Convert({ order: meta.id });
}

function OnDelete(meta) {
  cancelTimer(Convert, meta.id);
  delete totals[meta.id];
}

// Also a timer's callback: if the service is not there, it is tried again later.
function Convert({ order: id }) {
  const order = orders[id];
  if (order === undefined) return;
  const rate = rateOf(order.currency);
  if (rate === undefined) {
    createTimer(Convert, new Date(Date.now() + retry_seconds * 1000), id, { order: id });
    return;
  }
  cancelTimer(Convert, id);
  totals[id] = { euros: Math.round(order.amount * rate * 100) / 100, rate };
}

// undefined if nobody knows it at the moment.
function rateOf(currency) {
  try {
    const response = curl('GET', rates, { path: '/rate', params: { from: currency, to: 'EUR' } });
    if (response.status === 200) return response.body.rate; // JSON comes as an object
    log('the service answered', response.status);
  } catch (error) { // a CurlError: nobody there, or too late
    log('the service was not reached:', error.message);
  }
  return undefined;
}
