/** What a limit counts for. Ids, never paths: groups are renamed and moved. */
export type Subject =
  | { readonly kind: 'instance' }
  | { readonly kind: 'group'; readonly id: number }
  | { readonly kind: 'project'; readonly id: number }
  | { readonly kind: 'runner-class'; readonly name: string }
  | { readonly kind: 'runner'; readonly id: number }
  | { readonly kind: 'user'; readonly id: number };

/** One word per subject, used in counter keys, logs and index look-ups: `instance`, `group/101`, `runner-class/large`. */
export function subjectKey(subject: Subject): string {
  switch (subject.kind) {
    case 'instance':
      return 'instance';
    case 'runner-class':
      return `runner-class/${subject.name}`;
    case 'group':
    case 'project':
    case 'runner':
    case 'user':
      return `${subject.kind}/${subject.id}`;
  }
}
