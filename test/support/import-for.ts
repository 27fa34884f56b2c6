/**
 * A module of the project (`path` from its root, e.g. `functions/sweep/handler.ts`) that reads the environment while it
 * loads, for one test file (`file`: its `import.meta.url`). Test files share a process: without this the second
 * file would get the module the first one configured.
 */
export async function importFor<Module>(file: string, path: string): Promise<Module> {
  const url = new URL(`../../${path}`, import.meta.url);
  url.searchParams.set('for', new URL(file).pathname);
  return import(url.href);
}
