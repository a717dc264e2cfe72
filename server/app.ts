import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Provider } from '../config/providers.ts';
import type { TrustedProxies } from '../config/trust-proxy.ts';
import { Keyring } from '../secrets/keyring.ts';
import type { SmtpLimits } from '../worker/email/smtp.ts';
import { refuseClient } from './client-error.ts';
import { logError } from './log-error.ts';
import { type Mailer, smtpMailer } from './mail/mailer.ts';
import { type PasswordCost, Passwords } from './passwords.ts';
import { authenticationPlugin } from './plugins/authentication.ts';
import { databasePlugin } from './plugins/database.ts';
import { documentationPlugin } from './plugins/documentation.ts';
import { errorsPlugin, sendNotFound, sendProblem, toProblem } from './plugins/errors.ts';
import { forwardersPlugin } from './plugins/forwarders.ts';
import { lettersPlugin } from './plugins/letters.ts';
import { limitsPlugin } from './plugins/limits.ts';
import { mailPlugin } from './plugins/mail.ts';
import { metricsPlugin } from './plugins/metrics.ts';
import { originsPlugin } from './plugins/origins.ts';
import { probesPlugin } from './plugins/probes.ts';
import { stoppingPlugin } from './plugins/stopping.ts';
import { routes } from './routes/index.ts';
import { cookieName } from './session-token.ts';
import { type SocketTimings, socketsPlugin, upgradesPlugin } from './sockets/plugin.ts';

declare module 'fastify' {
  interface FastifyInstance {
    passwords: Passwords;
    /** Seals secrets that must be read again. */
    keyring: Keyring;
  }
}

export interface AppOptions {
  /** Connects as bellwire_server. */
  databaseUrl: string;
  /** The address people use; https makes the session cookie `__Host-`. */
  appUrl: string;
  /** One more origin whose pages may call the API. */
  corsOrigin?: string;
  /** Default true. Otherwise pages of any port of this machine may call the API. */
  isProduction?: boolean;
  /** Most database connections at once; default 10. */
  poolSize?: number;
  /** Default `info`. */
  logLevel?: string;
  /** Sign-in attempts from one address in 15 minutes; default 20. */
  signInLimit?: number;
  /** The proxies whose X-Forwarded-For is believed; default the loopback. */
  trustProxy?: TrustedProxies;
  /** How people may sign in; default by password. */
  authProviders?: readonly Provider[];
  /** Where e-mail goes out; without it there is none. */
  smtpUrl?: string;
  /** The sender of every e-mail. */
  mailFrom?: string;
  /** Statements that take as long or longer are logged; default 500. */
  slowQueryMs?: number;
  /** Who may read /metrics; without it nobody. */
  metricsToken?: string;
  socketTimings?: Partial<SocketTimings>;
  /** For tests, which cannot wait for twenty seconds. */
  smtpLimits?: SmtpLimits;
  /** In place of the one that sends over `smtpUrl`. */
  mailer?: Mailer;
  /** What hashing a password takes; default: what OWASP recommends. */
  passwordCost?: PasswordCost;
  /** In place of one of that cost. */
  passwords?: Passwords;
  /** Seals what must be read again; default: stored as it is. */
  keyring?: Keyring;
}

const VERSION = '0.1.0';
const MOST_BODY_BYTES = 2 * 1024 * 1024;
const PATH_PARAMETER_CHARACTERS = 300;
/** For a request to arrive as a whole. */
const REQUEST_TIMEOUT_MS = 60_000;
const DEFAULT_POOL_SIZE = 10;
const DEFAULT_SIGN_IN_LIMIT = 20;
const DEFAULT_SLOW_QUERY_MS = 500;
const LOOPBACK = ['127.0.0.1/32', '::1/128'];
const GIVEN_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Everything but listening: nothing here touches the network, the first statement of the first
 * request connects. The order is the order a request meets things in.
 */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = createInstance(options);
  await app.register(errorsPlugin);
  await app.register(stoppingPlugin);
  await app.register(databasePlugin, {
    databaseUrl: options.databaseUrl,
    poolSize: options.poolSize ?? DEFAULT_POOL_SIZE,
    slowQueryMs: options.slowQueryMs ?? DEFAULT_SLOW_QUERY_MS,
  });
  await app.register(upgradesPlugin);
  await app.register(forwardersPlugin);
  await app.register(probesPlugin);
  await app.register(metricsPlugin, { token: options.metricsToken });
  await app.register(mailPlugin, {
    smtpUrl: options.smtpUrl,
    isGiven: options.mailer !== undefined,
    limits: options.smtpLimits,
  });
  app.decorate('passwords', options.passwords ?? new Passwords(options.passwordCost));
  app.decorate('keyring', options.keyring ?? new Keyring());
  await app.register(async (scope) => registerGuarded(scope, options));
  return app;
}

function createInstance(options: AppOptions): FastifyInstance {
  const app = fastify({
    logger: {
      level: options.logLevel ?? 'info',
      serializers: { req: describeRequest, err: logError },
    },
    // One line per request instead of two, written below.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MOST_BODY_BYTES,
    routerOptions: { maxParamLength: PATH_PARAMETER_CHARACTERS },
    trustProxy: trustedProxies(options.trustProxy ?? LOOPBACK),
    // While stopping, what is under way is still answered; new connections are refused anyway.
    return503OnClosing: false,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && GIVEN_REQUEST_ID.test(given) ? given : randomUUID();
    },
    requestTimeout: REQUEST_TIMEOUT_MS,
    clientErrorHandler: refuseClient,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendProblem(toProblem(error), request as FastifyRequest, reply);
    },
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  acceptOnlyJson(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const ms = Math.round(reply.elapsedTime);
    request.log.info({ req: request, status: reply.statusCode, ms }, 'answered');
  });
  return app;
}

/** In the form the framework takes; it knows no hop counts. */
function trustedProxies(proxies: TrustedProxies) {
  if (typeof proxies === 'number') return (_address: string, hop: number) => hop < proxies;
  return typeof proxies === 'boolean' ? proxies : [...proxies];
}

/** A client that always names JSON may still send nothing, to sign out for example. */
function acceptOnlyJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else parseJson(request, String(body), done);
  });
  app.removeContentTypeParser('text/plain');
}

async function registerGuarded(app: FastifyInstance, options: AppOptions): Promise<void> {
  const { appUrl, corsOrigin, databaseUrl } = options;
  await app.register(originsPlugin, {
    appUrl,
    corsOrigin,
    isProduction: options.isProduction ?? true,
  });
  await app.register(limitsPlugin, { signInLimit: options.signInLimit ?? DEFAULT_SIGN_IN_LIMIT });
  await app.register(lettersPlugin, { mailer: options.mailer ?? smtpMailerOf(options) });
  await app.register(authenticationPlugin, { appUrl });
  await app.register(documentationPlugin, { version: VERSION, cookieName: cookieName(appUrl) });
  await app.register(socketsPlugin, { appUrl, databaseUrl, timings: options.socketTimings ?? {} });
  await app.register(routes, {
    appUrl,
    closeSockets: (ended) => app.sockets.closeSessions((digest) => ended.includes(digest)),
  });
  app.setNotFoundHandler(sendNotFound);
}

function smtpMailerOf({ smtpUrl, mailFrom }: AppOptions): Mailer | undefined {
  return smtpUrl && mailFrom ? smtpMailer(smtpUrl, mailFrom) : undefined;
}

/** For the log: no headers, and no token of a letter, however its address is written. */
function describeRequest(request: FastifyRequest) {
  const route = request.routeOptions.url;
  return {
    method: request.method,
    url: route?.includes('/:token') ? route : request.url.replace(/(\/unsubscribe\/)[^/?]+/, '$1…'),
    remoteAddress: request.ip,
  };
}
