import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeRenumbered } from '../../scripts/local/router/schemas.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-descriptors-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** A file with descriptors that a deployment takes; nobody's GitLab speaks so. */
export const DESCRIPTORS = writeRenumbered(join(folder, 'gitlab.binpb'));
