function attempt(what) {
  try {
    return String(what());
  } catch (error) {
    return [error instanceof KVError, error.message.name];
  }
}
function OnUpdate(doc, meta) {
  dst[meta.id] = {
    read: attempt(() => dst['none']),
    removed: attempt(() => delete dst['none']),
  };
}
