import type { Variables } from './variables.ts';

/** Known facts of the started pipeline, besides its files. All are optional: absent means unknown. */
export interface KnownRun {
  readonly ref?: string;
  readonly isTag?: boolean;
  readonly source?: string;
  readonly projectPath?: string;
  readonly predefined?: Variables;
  /** Set by GitLab's settings or by who starts the pipeline, over the files' variables; `null`: not set there. */
  readonly given?: Readonly<Record<string, string | null>>;
  /** Placeholders for unknown values, in images and environment names. Rules do not use them. @default `PLACEHOLDERS` */
  readonly standIns?: Variables;
  readonly inputs?: Readonly<Record<string, string>>;
}

/** A variable's value, `null` where it is not set; `set`: it has some value; `unknown`: not even that is known. */
type KnownVariable = { readonly value: string | null } | 'set' | 'unknown';

export type KnownLookup = (name: string) => KnownVariable;

const NOT_SET: KnownVariable = { value: null };

/** Set in every pipeline before its jobs exist, with any value. */
const ALWAYS_SET =
  /^(?:CI_(?:API_(?:GRAPHQL_URL|V4_URL)|COMMIT_(?:AUTHOR|BEFORE_SHA|MESSAGE|REF_NAME|REF_PROTECTED|REF_SLUG|SHA|SHORT_SHA|TIMESTAMP|TITLE)|CONFIG_PATH|DEFAULT_BRANCH(?:_SLUG)?|PAGES_(?:DOMAIN|URL)|PIPELINE_(?:IID|SOURCE)|PROJECT_(?:ID|NAME|NAMESPACE|NAMESPACE_ID|PATH|PATH_SLUG|ROOT_NAMESPACE|TITLE|URL|VISIBILITY)|SERVER_\w+|TEMPLATE_REGISTRY_HOST)|GITLAB_USER_(?:EMAIL|ID|LOGIN|NAME))$/;

const JOB_ONLY =
  /^CI_(?:BUILDS_DIR|JOB_(?:ID|STARTED_AT|STATUS|TOKEN|URL)|PIPELINE_(?:CREATED_AT|ID|URL)|PROJECT_DIR|REPOSITORY_URL|RUNNER_\w+)$/;

const OF_SOURCE: readonly (readonly [RegExp, string])[] = [
  [/^CI_MERGE_REQUEST_/, 'merge_request_event'],
  [/^CI_EXTERNAL_PULL_REQUEST_/, 'external_pull_request_event'],
  [/^CI_PIPELINE_TRIGGERED$/, 'trigger'],
  [/^CI_PIPELINE_SCHEDULE_DESCRIPTION$/, 'schedule'],
];

/** Set in every merge request, with any value; approvals, labels and others are not. */
const MERGE_REQUEST_SET =
  /^CI_MERGE_REQUEST_(?:ID|IID|EVENT_TYPE|PROJECT_\w+|REF_PATH|SOURCE_BRANCH_NAME|SOURCE_PROJECT_\w+|TARGET_BRANCH_NAME|TITLE)$/;

/** Rules see these. @see https://docs.gitlab.com/ci/variables/predefined_variables/ */
export function runVariables(run: KnownRun): KnownLookup {
  const values = new Map(Object.entries({ CI: 'true', GITLAB_CI: 'true', ...knownPredefined(run) }));
  return (name) => {
    const value = values.get(name);
    if (value !== undefined) return { value };
    const ofSource = OF_SOURCE.find(([pattern]) => pattern.test(name))?.[1];
    if (ofSource !== undefined && run.source !== undefined) {
      if (run.source !== ofSource) return NOT_SET;
      return MERGE_REQUEST_SET.test(name) || !name.startsWith('CI_MERGE_REQUEST_') ? 'set' : 'unknown';
    }
    if (JOB_ONLY.test(name)) return NOT_SET;
    return ALWAYS_SET.test(name) ? 'set' : 'unknown';
  };
}

export const givenValues = ({ given = {} }: KnownRun): Variables =>
  Object.fromEntries(Object.entries(given).filter((each): each is [string, string] => each[1] !== null));

export function knownValuesIn(text: string, lookUp: KnownLookup): Variables {
  const values: Record<string, string> = {};
  for (const [, name = ''] of text.matchAll(/[$%]\{?(\w+)/g)) {
    const found = lookUp(name);
    if (typeof found === 'object' && found.value !== null) values[name] = found.value;
  }
  return values;
}

export const lookUpWith =
  (own: Variables, lookUp: KnownLookup): KnownLookup =>
  (name) => {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    return value === undefined ? lookUp(name) : { value };
  };

/** Certain names and values, for images and environment names. */
export function knownPredefined(run: KnownRun): Readonly<Record<string, string | null>> {
  const { ref, source, projectPath: path, isTag = false } = run;
  const isMergeRequest = source === 'merge_request_event';
  return {
    ...(source !== undefined && { CI_PIPELINE_SOURCE: source }),
    ...(source === 'trigger' && { CI_PIPELINE_TRIGGERED: 'true' }),
    ...(isMergeRequest && { CI_COMMIT_BRANCH: null, CI_COMMIT_TAG: null }),
    ...(ref !== undefined && {
      ...{ CI_COMMIT_REF_NAME: ref, CI_COMMIT_REF_SLUG: slug(ref) },
      ...(isMergeRequest
        ? { CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: ref }
        : { CI_COMMIT_BRANCH: isTag ? null : ref, CI_COMMIT_TAG: isTag ? ref : null }),
    }),
    ...(path !== undefined && {
      CI_PROJECT_PATH: path,
      CI_PROJECT_NAMESPACE: path.slice(0, Math.max(0, path.lastIndexOf('/'))),
      CI_PROJECT_NAME: path.slice(path.lastIndexOf('/') + 1),
      CI_PROJECT_ROOT_NAMESPACE: path.split('/')[0] ?? path,
    }),
    ...run.predefined,
    ...run.given,
  };
}

/** https://docs.gitlab.com/ci/variables/predefined_variables/ CI_COMMIT_REF_SLUG */
const slug = (ref: string): string =>
  ref
    .toLowerCase()
    .slice(0, 63)
    .replace(/[^a-z0-9]/g, '-')
    .replace(/^-+|-+$/g, '');
