export function keepLatest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, countMax: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= countMax) return;
  const [oldest] = map.keys();
  map.delete(oldest as Key);
}
