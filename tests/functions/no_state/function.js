function attempt(what) {
  try {
    what();
  } catch (error) {
    log(error.name);
  }
}
function OnUpdate(doc, meta) {
  log(typeof globalThis.kept, typeof OnUpdate.kept, typeof [].kept);
  attempt(() => { globalThis.kept = 1; });
  attempt(() => { OnUpdate.kept = 1; });
  attempt(() => { Array.prototype.kept = 1; });
}
