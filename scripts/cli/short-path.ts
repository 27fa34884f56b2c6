/** `/home/me/clone/policies/policy.yaml:3:1 …` from `/home/me/clone` → `policies/policy.yaml:3:1 …`. */
export const shortPath = (text: string, cwd: string): string => {
  const folder = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return text.startsWith(folder) ? text.slice(folder.length) : text;
};
