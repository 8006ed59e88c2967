// A change sets a timer that is due at once, and the timer makes the next change.
function OnUpdate(doc, meta) {
  if (doc.left > 0) createTimer(Next, new Date(), meta.id, {id: meta.id, left: doc.left - 1});
  else dst[meta.id] = 'done';
}
function Next(context) {
  couchbase.upsert(src, {id: context.id}, {left: context.left}, {self_recursion: true});
}
