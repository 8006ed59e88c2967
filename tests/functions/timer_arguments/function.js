function message(what) {
  try {
    return what();
  } catch (error) {
    return error.toString();
  }
}
function Fired(context) {}
function OnUpdate(doc, meta) {
  const soon = new Date(Date.now() + 1000);
  const inner = function inner() {};
  log(message(() => createTimer('Fired', soon, 'r')));
  log(message(() => createTimer(() => {}, soon, 'r')));
  log(message(() => createTimer(inner, soon, 'r')));
  log(message(() => createTimer(Fired, Date.now(), 'r')));
  log(message(() => createTimer(Fired, new Date('never'), 'r')));
  log(message(() => createTimer(Fired, soon, 7)));
  log(message(() => createTimer(Fired, soon, 'r', 'x'.repeat(1024))));
  log(message(() => createTimer(Fired, soon, 'r', 'x'.repeat(1022))));
  log(message(() => createTimer(Fired, soon, null).length > 0));
  log(message(() => createTimer(Fired, soon, undefined).length > 0));
  log(message(() => createTimer(Fired, soon)));
  log(message(() => cancelTimer(Fired)));
  log(message(() => cancelTimer(Fired, 7)));
  log(message(() => cancelTimer(() => {}, 'r')));
  log(message(() => cancelTimer(Fired, 'other')));
  log(message(() => cancelTimer(Fired, 'r')));
}
