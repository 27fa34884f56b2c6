/** `TOLLGATE_TEST_SEED=17`: every property tries the same cases again. Otherwise others each time. */
const seed = process.env.TOLLGATE_TEST_SEED;

if (seed !== undefined) {
  if (!/^\d{1,9}$/.test(seed)) throw new Error(`TOLLGATE_TEST_SEED=${seed} is no number up to 999999999`);
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(seed) });
}
