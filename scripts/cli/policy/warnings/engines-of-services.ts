import { entriesAt, type Warning, type WrittenDocuments } from './warning.ts';

/** Docker in Docker that is refused as a service and by no rule as the image of the job itself. */
export function enginesOfServices({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const written = entriesAt(policyDocument, 'rules');
  const denying = policy.rules.filter(
    ({ mode, order }) => mode !== 'off' && written[order]?.docker_in_docker === false,
  );
  if (denying.some(({ kind }) => kind === 'image')) return [];
  return denying.map(({ id, order }) => ({
    path: ['rules', order],
    message: `rule ${id} denies Docker in Docker for services alone; the image of the job itself is judged by docker_in_docker: false in a rule of kind image`,
  }));
}
