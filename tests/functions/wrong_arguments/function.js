function message(what) {
  try {
    what();
    return 'nothing thrown';
  } catch (error) {
    return error.toString();
  }
}
function OnUpdate(doc, meta) {
  log(message(() => couchbase.get(dst)));
  log(message(() => couchbase.get({}, {id: 'a'})));
  log(message(() => couchbase.get(dst, 'a')));
  log(message(() => couchbase.get(dst, {})));
  log(message(() => couchbase.replace(dst, {id: 'a', cas: 1}, 1)));
  log(message(() => couchbase.upsert(dst, {id: 'a', expiry_date: 1}, 1)));
  log(message(() => { dst['a'] = undefined; }));
}
