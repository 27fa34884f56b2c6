/** A typed client of the API, for scripts of the pages and for programs. */
import { hc } from 'hono/client';
import type { Api } from './create-api.ts';
import { API_PATH } from './http.ts';

interface ApiClientOptions {
  readonly origin: string;
  readonly csrfToken?: string;
  /** Session of a user on a terminal, or a job's `id_token`; needs no `csrfToken`. */
  readonly session?: string;
  readonly fetch?: typeof fetch;
}

export const apiClient = ({ origin, csrfToken, session, fetch: send = fetch }: ApiClientOptions) =>
  hc<Api>(`${origin}${API_PATH}`, {
    fetch: send,
    headers: {
      ...(csrfToken !== undefined && { 'x-csrf-token': csrfToken }),
      ...(session !== undefined && { authorization: `Bearer ${session}` }),
    },
  });
