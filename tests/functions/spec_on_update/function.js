function OnUpdate(doc, meta) {
  if (doc.type == 'order' && doc.value > 5000) {
    phoneverify[meta.id] = doc.customer;
  }
}
