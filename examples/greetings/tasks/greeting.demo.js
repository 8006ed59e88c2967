function handleEvent(headers, input, instance) {
  if (!input.user) throw new IllegalArgumentException("Missing path parameter 'user'");
  return { user: input.user, message: 'Welcome', time: new Date() };
}
