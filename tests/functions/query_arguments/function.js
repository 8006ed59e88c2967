function message(what) {
  try {
    return what();
  } catch (error) {
    return error.toString();
  }
}
function OnUpdate(doc, meta) {
  log(message(() => N1QL()));
  log(message(() => N1QL(7)));
  log(message(() => N1QL('SELECT 1', 7)));
  log(message(() => N1QL('SELECT $a', {a: undefined})));
  log(message(() => N1QL('SELECT $1', [1, () => 1])));
  log(message(() => N1QL('SELECT 1', {}, {consistency: 7})));
  log(message(() => N1QL('SELECT 1', {}, {consistency: 'often'})));
  log(message(() => N1QL('SELECT 1', {}, {isPrepared: 1})));
  log(message(() => N1QL('SELECT 1', {}, {clientContextId: Symbol('x')})));
  log(message(() => couchbase.analyticsQuery(7)));
  log([...N1QL('SELECT RAW $1 + $2', [1, 2], {consistency: 'request', isPrepared: true, clientContextId: 'c'})]);
  log(message(() => { ADVISE SELECT 1; }));
  log(message(() => { GRANT query_select ON dst TO ann; }));
  log(message(() => { REVOKE query_select ON dst FROM ann; }));
}
