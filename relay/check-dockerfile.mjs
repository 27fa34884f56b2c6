/**
 * `node relay/check-dockerfile.mjs [--release]`: says which base images are pinned by tag only, and how to pin them. With
 * `--release` that is a failure: a tag may be another image tomorrow.
 */
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('./Dockerfile', import.meta.url), 'utf8');
const images = [...text.matchAll(/^FROM\s+(?:--platform=\S+\s+)?(\S+)/gim)].map(([, image]) => image);
const unpinned = images.filter((image) => !/@sha256:[a-f\d]{64}$/.test(image));

for (const image of unpinned) {
  process.stdout.write(
    `relay/Dockerfile: ${image} is pinned by tag only; look its digest up with ` +
      `"docker buildx imagetools inspect ${image}" and write ${image}@sha256:…\n`,
  );
}
if (unpinned.length === 0)
  process.stdout.write(`relay/Dockerfile: all ${images.length} base images are pinned by digest\n`);
process.exit(unpinned.length > 0 && process.argv.includes('--release') ? 1 : 0);
