import { compileWildcard, type Wildcard } from '../../../policies/match/wildcard.ts';
import type { Directory, DirectoryGroup } from '../../../policies/place/directory.ts';
import type { JobRecord } from '../../core/ledger/index.ts';

const PATTERN_PREFIX = 'groups/';

/**
 * Matches recorded jobs to the subjects of edits, which may be thousands. Groups are those of today's
 * directory.
 */
export class JobSubjects {
  readonly #wanted: ReadonlySet<string>;
  readonly #patterns: readonly { readonly subject: string; readonly wildcard: Wildcard }[];
  readonly #directory: Directory;
  readonly #ofGroup = new Map<string, readonly string[]>();

  /** @param wanted - as in edits: `instance`, `group/101`, `project/7`, `runner-class/large`, `personal`, `groups/acme/team-?` … */
  constructor(wanted: Iterable<string>, directory: Directory) {
    this.#wanted = new Set(wanted);
    this.#patterns = [...this.#wanted]
      .filter((subject) => subject.startsWith(PATTERN_PREFIX))
      .flatMap((subject) => {
        const compiled = compileWildcard(subject.slice(PATTERN_PREFIX.length));
        // One that is none was never in a valid document.
        return compiled.ok ? [{ subject, wildcard: compiled.wildcard }] : [];
      });
    this.#directory = directory;
  }

  of({ facts }: JobRecord): readonly string[] {
    const { projectId, runnerClass, userId, asked } = facts;
    const direct = [
      'instance',
      `project/${projectId}`,
      `runner-class/${runnerClass}`,
      `user/${userId}`,
      `runner/${asked?.runnerId}`,
    ].filter((subject) => this.#wanted.has(subject));
    const ofGroups = this.#groups(facts);
    return direct.length === 0 ? ofGroups : [...direct, ...ofGroups];
  }

  #groups({ groupId, rootId }: JobRecord['facts']): readonly string[] {
    const key = `${groupId} ${rootId}`;
    const known = this.#ofGroup.get(key);
    if (known !== undefined) return known;
    const chain = groupId === undefined ? undefined : this.#directory.chainById.get(groupId);
    const ids = chain?.map(({ id }) => id) ?? [rootId, groupId];
    const groups = [...new Set(ids)].map((id) => `group/${id}`).filter((each) => this.#wanted.has(each));
    const found = [...groups, ...this.#defaults(chain ?? [])];
    this.#ofGroup.set(key, found);
    return found;
  }

  #defaults(chain: readonly DirectoryGroup[]): readonly string[] {
    const personal = this.#wanted.has('personal') && chain.some((group) => group.personal);
    const matching = this.#patterns.filter(({ wildcard }) =>
      chain.some((group) => !group.personal && wildcard.matches(group.path)),
    );
    return [...(personal ? ['personal'] : []), ...matching.map(({ subject }) => subject)];
  }
}
