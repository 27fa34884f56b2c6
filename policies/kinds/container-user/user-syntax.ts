/** How a user is written: Kubernetes takes numbers only, Docker names, too. */
export type UserSyntax = 'kubernetes' | 'docker';

export interface ContainerUser {
  readonly user?: AskedId;
  readonly group?: AskedId;
}

export interface AskedId {
  /** As written. */
  readonly text: string;
  /** For comparing: `007` is `7`, and `root` is `0`. */
  readonly id: string;
  /** What it will be is not known yet. */
  readonly isVariable: boolean;
  /** Nothing such an executor takes. */
  readonly invalid: boolean;
}

/** Kubernetes and Docker both end here; beyond it a number might wrap to root. */
const ID_MAX = 2 ** 31 - 1;

/** Reads `1000`, `1000:1001`, `www-data:www-data`. A part that is not there asks for nothing. */
export function readContainerUser(text: string, syntax: UserSyntax): ContainerUser {
  const [userText = '', groupText, ...more] = text.split(':');
  if (more.length > 0) return { user: { text, id: text, isVariable: text.includes('$'), invalid: true } };
  const user = askedId(userText, syntax);
  const group = groupText === undefined ? undefined : askedId(groupText, syntax);
  return { ...(user !== undefined && { user }), ...(group !== undefined && { group }) };
}

function askedId(text: string, syntax: UserSyntax): AskedId | undefined {
  if (text.includes('$')) return { text, id: text, isVariable: true, invalid: false };
  // Both executors leave an empty part to the image.
  if (text === '') return undefined;
  const name = syntax === 'docker' ? text.trim() : text;
  // Both take `+0` and `-0` for root.
  if (/^[+-]?\d+$/.test(name)) {
    const number = Number(name);
    return { text, id: String(number), isVariable: false, invalid: number < 0 || number > ID_MAX };
  }
  return { text, id: name === 'root' ? '0' : name, isVariable: false, invalid: syntax === 'kubernetes' };
}
