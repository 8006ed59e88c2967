function OnUpdate(doc, meta) {
  const made = curl('POST', api, {path: '/things', params: {of: meta.id}, headers: {'X-Id': meta.id}, body: doc});
  log(made.status, made.body);
  try {
    curl('GET', api, {path: '/down'});
  } catch (error) {
    log(error instanceof CurlError, error.message);
  }
}
