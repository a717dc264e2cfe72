import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { databaseProblem } from '../database-problem.ts';
import { messagePage } from '../pages.ts';
import { Problem } from '../problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether people open the route in a browser, so that its failures are pages as well. */
    page?: boolean;
  }
}

const MOST_ISSUES = 3;
/** A message may quote the request, and a request may be two megabytes. */
const MESSAGE_CHARACTERS = 400;

/** What Fastify itself refuses, by its code. */
const REFUSALS: Record<string, { status: number; code: string; message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    message: 'The body is larger than 2 MB.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    code: 'unsupported_media_type',
    message: 'Send the body as application/json.',
  },
  FST_ERR_CTP_INVALID_JSON_BODY: {
    status: 400,
    code: 'invalid_request',
    message: 'The body is not valid JSON.',
  },
  FST_ERR_BAD_URL: {
    status: 400,
    code: 'invalid_request',
    message: 'The address of the request is not valid.',
  },
};

/** One shape for every failure. Never a stack, never a driver's text. */
export const errorsPlugin = fp(
  async (app) => {
    app.setErrorHandler((error, request, reply) => sendProblem(toProblem(error), request, reply));
  },
  { name: 'bellwire-errors', fastify: '5.x' },
);

/** The answer to a path that no route has. */
export function sendNotFound(request: FastifyRequest, reply: FastifyReply) {
  const path = clip(request.url.split('?', 1)[0] ?? '');
  const problem = new Problem(404, 'not_found', `There is no ${request.method} ${path}.`, {
    hint: 'The routes are listed at /docs.',
  });
  return sendProblem(problem, request, reply);
}

/** Also for errors that arise before a route is found, such as a URL that cannot be decoded. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply) {
  if (problem.status >= 500) {
    request.log.error({ err: problem.cause ?? problem }, problem.message);
  }
  if (problem.retryAfterSeconds !== undefined) {
    reply.header('retry-after', problem.retryAfterSeconds);
  }
  reply.code(problem.status).header('cache-control', 'no-store');
  if (wantsPage(request)) {
    return reply
      .type('text/html; charset=utf-8')
      .serializer(String)
      .send(messagePage('That did not work', problem.message));
  }
  return reply.type('application/json; charset=utf-8').serializer(JSON.stringify).send({
    success: false,
    error: problem.code,
    message: problem.message,
    hint: problem.hint,
    requestId: request.id,
  });
}

/** Turns whatever was thrown into an answer; anything unforeseen is a bare 500. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const fromDatabase = databaseProblem(error);
  if (fromDatabase) return fromDatabase;
  if (hasZodFastifySchemaValidationErrors(error)) return fromValidation(error as FastifyError);
  if (error instanceof Error) return fromFramework(error as FastifyError);
  return new Problem(500, 'internal', 'Something went wrong on our side.', { cause: error });
}

function fromValidation(error: FastifyError): Problem {
  const issues = error.validation ?? [];
  // A cursor is opaque to the client, so all it needs to know is that this one is no good.
  if (issues.length > 0 && issues.every((issue) => issue.instancePath === '/cursor')) {
    return new Problem(400, 'invalid_cursor', 'The cursor is not one this list gave out.', {
      hint: 'Take nextCursor of the page before, or leave the cursor out to begin again.',
    });
  }
  const where = error.validationContext ?? 'request';
  const sentences = issues
    .slice(0, MOST_ISSUES)
    .map((issue) => `${where}${issue.instancePath.replace(/\/$/, '')}: ${issue.message}`);
  return new Problem(400, 'invalid_request', clip(`${sentences.join('; ')}.`), { cause: error });
}

function fromFramework(error: FastifyError): Problem {
  const refusal = REFUSALS[error.code];
  if (refusal) return new Problem(refusal.status, refusal.code, refusal.message, { cause: error });
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) {
    return new Problem(status, 'invalid_request', clip(error.message), { cause: error });
  }
  return new Problem(500, 'internal', 'Something went wrong on our side.', { cause: error });
}

function wantsPage(request: FastifyRequest): boolean {
  return (
    request.routeOptions.config?.page === true &&
    (request.headers.accept ?? '').includes('text/html')
  );
}

function clip(text: string): string {
  return text.length <= MESSAGE_CHARACTERS ? text : `${text.slice(0, MESSAGE_CHARACTERS)}…`;
}
