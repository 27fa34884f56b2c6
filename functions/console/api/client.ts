/** A typed client of the API, for programs. */
import { hc } from 'hono/client';
import type { Api } from './create-api.ts';
import { API_PATH } from './http.ts';

interface ApiClientOptions {
  readonly origin: string;
  /** Session of a user on a terminal, or a job's `id_token`. */
  readonly session?: string;
  readonly fetch?: typeof fetch;
}

export const apiClient = ({ origin, session, fetch: send = fetch }: ApiClientOptions) =>
  hc<Api>(`${origin}${API_PATH}`, {
    fetch: send,
    ...(session !== undefined && { headers: { authorization: `Bearer ${session}` } }),
  });
