export function keepLatest<Key, Value>(
  kept: Map<Key, Value>,
  key: Key,
  value: Value,
  countMax: number,
): void {
  kept.delete(key);
  kept.set(key, value);
  if (kept.size <= countMax) return;
  const [oldest] = kept.keys();
  kept.delete(oldest as Key);
}
