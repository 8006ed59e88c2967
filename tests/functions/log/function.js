function OnUpdate(doc, meta) {
  log('text', 1, true, null, undefined, [1, {a: 'ä'}]);
  log(new RangeError('far'), new KVError({code: 1}));
  const circle = {};
  circle.self = circle;
  log(circle, 'goes on');
  log();
}
