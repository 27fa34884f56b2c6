/** `npm run image:check [-- --release]`: says how to pin the base image by digest. `--release` fails while it is not: a tag may be another image tomorrow. */
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('./Dockerfile', import.meta.url), 'utf8');
const [, base = ''] = /^ARG BASE=(\S+)$/m.exec(text) ?? [];
const isPinned = /@sha256:[a-f\d]{64}$/.test(base);
process.stdout.write(
  isPinned
    ? `relay/Dockerfile: ${base}\n`
    : `relay/Dockerfile: ${base} is pinned by tag only; look its digest up with ` +
        `"docker buildx imagetools inspect ${base}" and write ARG BASE=${base}@sha256:…\n`,
);
process.exit(!isPinned && process.argv.includes('--release') ? 1 : 0);
