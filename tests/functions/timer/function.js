function Fired(context) {
  dst[context.id] = context;
}
function OnUpdate(doc, meta) {
  createTimer(Fired, new Date(), 'one', {id: 'fired', of: meta.id});
  createTimer(Fired, new Date(Date.now() + 3600000), 'two', {id: 'never'});
  log(cancelTimer(Fired, 'two'), cancelTimer(Fired, 'two'));
}
