import { expect, test } from 'vitest';
import { changedLines, changedSince } from '../../../../scripts/proof/mutants/changed-since.ts';

const DIFF = `diff --git a/relay/room.ts b/relay/room.ts
--- a/relay/room.ts
+++ b/relay/room.ts
@@ -10,0 +11,2 @@ export class RelayRoom {
+  if (a < b) return;
+  if (a > b) return;
@@ -40 +42 @@ export class RelayRoom {
-  const c = 1;
+  const c = 2;
@@ -50,3 +51,0 @@ export class RelayRoom {
-  gone
-  gone
-  gone
diff --git a/relay/gone.ts b/relay/gone.ts
--- a/relay/gone.ts
+++ /dev/null
@@ -1 +0,0 @@
-gone
`;

test('the lines that are new or other are meant, and no others', () => {
  const isChanged = changedLines(DIFF);
  const lines = Array.from({ length: 60 }, (_, at) => at).filter((line) =>
    isChanged({ source: 'relay/room.ts', line }),
  );
  expect(lines).toEqual([11, 12, 42]);
  expect(isChanged({ source: 'relay/gone.ts', line: 1 })).toBe(false);
});

test('a commit that git does not know is a wrong use', () => {
  expect(() => changedSince('.', 'no-such-commit')).toThrow('--since is "no-such-commit"');
});
