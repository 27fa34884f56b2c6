/** Proxies of an environment are addresses without a password; a password comes from where secrets are kept. */
type Variables = Readonly<Record<string, string | undefined>>;

/** @param credentials - `user:password`, as they are: nothing is to be escaped in them. */
export function withProxyCredentials(env: Variables, credentials: string | undefined): Variables {
  const proxy = env.https_proxy === undefined ? null : URL.parse(env.https_proxy);
  const [, user, password] = /^([^:]*):(.*)$/s.exec(credentials?.trim() ?? '') ?? [];
  if (proxy === null || user === undefined || password === undefined) return env;
  proxy.username = encodeURIComponent(user);
  proxy.password = encodeURIComponent(password);
  return { ...env, https_proxy: proxy.href };
}
