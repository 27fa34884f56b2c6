/** Who wrote what changed: parameters of one editor become live as one edit. */
import type { Ask } from './asking.ts';
import type { Editor, Parameters } from './parameters.ts';
import type { ChangedParameter } from './plan-edits.ts';
import type { Batch } from './publish.ts';

/** Parameter Store forgets all of a parameter that is deleted; CloudTrail does not. */
const DELETED_BY = 'unknown: see DeleteParameter in CloudTrail';
const WRITTEN_BY = 'unknown: see PutParameter in CloudTrail';

/**
 * Batches by editor, and what must wait: it was deleted, or made again, after it was listed, or there was no time to ask.
 *
 * @throws {SsmLimitsError}
 */
export async function batchesOf(
  changed: readonly ChangedParameter[],
  { parameters, ask }: { readonly parameters: Parameters; readonly ask: Ask },
): Promise<{ readonly batches: readonly Batch[]; readonly waiting: number }> {
  const batches = new Map<string, { actor: string; parameters: ChangedParameter[] }>();
  let waiting = 0;
  for (const parameter of changed) {
    const version = parameter.version?.version;
    const editor = await ask(() => parameters.editorOf(parameter.name, version ?? 1));
    const actor = actorOf(editor, version === undefined);
    if (actor === undefined) {
      waiting += 1;
      continue;
    }
    // Whoever confirms one change has not confirmed another.
    const key = `${parameter.version?.wanted.confirmed ?? 'gone'} ${actor}`;
    const batch = batches.get(key) ?? { actor, parameters: [] };
    batches.set(key, batch);
    batch.parameters.push(parameter);
  }
  return { batches: [...batches.values()], waiting };
}

/** Undefined: not now. */
function actorOf(editor: Editor | undefined, isGone: boolean): string | undefined {
  // A listing alone takes nothing away: the history must be gone as well.
  if (isGone) return editor?.found === 'no_parameter' ? DELETED_BY : undefined;
  if (editor?.found === 'editor') return editor.arn;
  return editor?.found === 'nobody' ? WRITTEN_BY : undefined;
}
