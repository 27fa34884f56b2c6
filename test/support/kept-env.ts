/** Returns a function that restores the environment, in the same object: other files of the worker hold a reference to it. */
export function keptEnv(): () => void {
  const saved = { ...process.env };
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name];
    Object.assign(process.env, saved);
  };
}
