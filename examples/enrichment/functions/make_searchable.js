// Adds to each contact how people look for it: the name without upper case and accents, the phone
// number with its digits only. Whoever writes contacts need not know of it.
function OnUpdate(contact, meta) {
  const search = { name: plain(contact.name || ''), phone: digits(contact.phone || '') };
  const old = contact.search || {};
  if (old.name === search.name && old.phone === search.phone) return; // nothing to write
  contact.search = search;
  contacts[meta.id] = contact;
}

function plain(text) {
  return text.normalize('NFD').replace(/\p{Mark}/gu, '').toLowerCase();
}

function digits(text) {
  return text.replace(/^\+/, '00').replace(/\D/g, '');
}
