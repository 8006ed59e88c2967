// Sessions expire; what was in them is kept in the archive. A deletion does not tell what was in the
// document, so it is copied shortly before it expires.
function OnUpdate(session, meta) {
  if (meta.expiry_date === undefined) {
    cancelTimer(Archive, meta.id); // it does not expire any more
    return;
  }
  const copyAt = new Date(meta.expiry_date.getTime() - seconds_before * 1000);
  createTimer(Archive, copyAt, meta.id, { session: meta.id }); // again: moves it
}

function Archive(context) {
  const session = sessions[context.session];
  if (session !== undefined) archive[context.session] = { session };
}

function OnDelete(meta, options) {
  cancelTimer(Archive, meta.id);
  const copy = archive[meta.id];
  if (copy === undefined) return;
  if (options.expired) {
    copy.expired_at = new Date().toISOString();
    archive[meta.id] = copy;
  } else {
    delete archive[meta.id]; // somebody wanted it to be gone
  }
}
