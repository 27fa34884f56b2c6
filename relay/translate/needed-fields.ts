import { neededFields } from '../../policies/needed-fields.ts';
import type { Policy } from '../../policies/policy.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { PROJECTS_MIN } from '../wire/schema-proof.ts';

type Field = keyof AdmissionRequest;

/** Some fields are rare: one job in a hundred may have an environment. */
export const JOBS_MIN = 1_000;
/** Without these a charge is a guess. */
const OF_COUNTED_RULES = ['projectId', 'timeoutSeconds'];

interface NeededFieldsDeps {
  readonly policy: Policy | undefined;
  readonly withoutSource: ReadonlySet<string>;
  readonly nowMs: number;
  readonly changed: (missing: readonly string[]) => void;
}

/** Watches the fields that the policy's rules need: those without a source, and those that GitLab stopped sending. */
export class NeededFields {
  readonly #missing: Set<string>;
  readonly #watched: readonly string[];
  readonly #changed: NeededFieldsDeps['changed'];
  /** The jobs since a field was last sent. Without an entry it never was. */
  readonly #since = new Map<string, { jobs: number; readonly projects: Set<number | undefined> }>();

  constructor({ policy, withoutSource, nowMs, changed }: NeededFieldsDeps) {
    const rules = policy?.rules.filter(({ mode }) => mode !== 'off') ?? [];
    const needed = new Set(
      rules.flatMap((rule) => [
        ...(policy === undefined ? [] : neededFields(rule, policy, nowMs)),
        ...(rule.stateless ? [] : OF_COUNTED_RULES),
      ]),
    );
    this.#missing = new Set([...needed].filter((field) => withoutSource.has(field)));
    this.#watched = [...needed].filter((field) => !withoutSource.has(field));
    this.#changed = changed;
  }

  get missing(): readonly string[] {
    return [...this.#missing];
  }

  note(request: AdmissionRequest): void {
    for (const field of this.#watched) {
      if (request[field as Field] !== undefined) {
        this.#since.set(field, { jobs: 0, projects: new Set() });
        if (this.#missing.delete(field)) this.#changed(this.missing);
        continue;
      }
      const since = this.#since.get(field);
      if (since === undefined || this.#missing.has(field)) continue;
      since.jobs += 1;
      if (since.projects.size < PROJECTS_MIN) since.projects.add(request.projectId);
      if (since.jobs < JOBS_MIN || since.projects.size < PROJECTS_MIN) continue;
      this.#missing.add(field);
      this.#changed(this.missing);
    }
  }
}
