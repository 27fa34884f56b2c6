import type { AdmitResponse, RouteCall } from './routes.ts';

/**
 * Used fields of an event of a function URL, of API Gateway v2, or of an invocation in that shape.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 */
export interface FunctionUrlEvent {
  readonly rawPath: string;
  readonly requestContext: { readonly http: { readonly method: string } };
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

interface FunctionUrlResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: false;
}

/** Answers Lambda's events without a framework, which has nothing to route or to stream here. */
export const onFunctionUrl =
  (answer: (call: RouteCall) => Promise<AdmitResponse>) =>
  async ({
    rawPath,
    requestContext,
    body,
    isBase64Encoded,
  }: FunctionUrlEvent): Promise<FunctionUrlResponse> => {
    const text = isBase64Encoded === true ? Buffer.from(body ?? '', 'base64').toString() : (body ?? '');
    const response = await answer({ method: requestContext.http.method, path: rawPath, text });
    return {
      statusCode: response.status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(response.body),
      isBase64Encoded: false,
    };
  };
