/** Which of a request's identities contradicted themselves and must not be used. */
export interface Doubted {
  readonly project: boolean;
  readonly path: boolean;
  readonly namespace: boolean;
  readonly root: boolean;
  readonly user: boolean;
  readonly visibility: boolean;
}

const NO_DOUBT: Doubted = {
  project: false,
  path: false,
  namespace: false,
  root: false,
  user: false,
  visibility: false,
};
const ALL_DOUBT: Doubted = {
  project: true,
  path: true,
  namespace: true,
  root: true,
  user: true,
  visibility: true,
};

/** A field that names no identity (an image that came twice, say) takes none away. */
const NO_IDENTITY = /^(job|pipeline|runner|ref|environment|image|service|timeout|organization)/i;

/**
 * Reads `AdmissionRequest.suspicious`. A doubted project takes its groups along unless ids name them; a name that is
 * not known here could be any identity, so all are doubted.
 */
export function doubted(suspicious: readonly string[] | undefined): Doubted {
  if (suspicious === undefined || suspicious.length === 0) return NO_DOUBT;
  let doubt = NO_DOUBT;
  for (const field of suspicious) {
    const name = field.replace(/^CI_/, '').replaceAll('_', '').toLowerCase();
    if (name === 'projectid') doubt = { ...doubt, project: true };
    else if (name.startsWith('projectpath') || name === 'projectnamespace') doubt = { ...doubt, path: true };
    else if (name === 'projectnamespaceid' || name === 'namespaceid') doubt = { ...doubt, namespace: true };
    else if (name === 'projectrootnamespace' || name === 'rootnamespaceid') doubt = { ...doubt, root: true };
    else if (name.startsWith('user') || name === 'gitlabuserid') doubt = { ...doubt, user: true };
    else if (name === 'projectvisibility') doubt = { ...doubt, visibility: true };
    else if (NO_IDENTITY.test(name)) continue;
    else return ALL_DOUBT;
  }
  return doubt;
}
