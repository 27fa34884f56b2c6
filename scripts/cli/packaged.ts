#!/usr/bin/env node
/** The npm package's program, on the host's Node: it must not import what Node 20 cannot load before the checks here. */
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const { env, versions } = process;
if (Number(versions.node.split('.')[0]) < 20) {
  console.error(`Tollgate needs Node 20 or newer; this is ${process.version}.`);
  process.exit(3);
}

// Node 22 has these.
Map.groupBy ??= (items, keyOf) => {
  const groups = new Map();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
};
Object.groupBy ??= (items, keyOf) => Object.fromEntries(Map.groupBy(items, keyOf)) as never;
Promise.withResolvers ??= () => {
  const made = {} as { promise: Promise<never>; resolve: never; reject: never };
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made as never;
};
URL.parse ??= (text, base) => (URL.canParse(String(text), base) ? new URL(text, base) : null);

// Compiled code starts in half the time. Not in the shared temporary folder, where another user could put code.
module.enableCompileCache?.(join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tollgate'));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { main } = await import('./main.ts');
await main({ root: `${process.cwd()}/`, version });
