function OnUpdate(doc, meta) {
  try {
    curl('GET', api, {path: '/x'});
  } catch (error) {
    log(error instanceof CurlError, error.message);
  }
}
