import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { describeError } from './signals.ts';

/** A command line that makes no sense, as opposed to a command that failed, which exits 1. */
const USAGE_ERROR_CODE = 2;
const FAILURE_CODE = 1;
const MAX_PORT = 65_535;

const ENVIRONMENT_HELP = `
Environment:
  DATABASE_URL                superuser or owner of a Postgres 15+; migrations use it. Without it,
                              start runs the embedded Postgres 18, as db and demo always do.
  DATABASE_SERVER_URL         login of the role bellwire_server
  DATABASE_WORKER_URL         login of the role bellwire_worker
  DATABASE_AUTHENTICATOR_URL  login of the role authenticator (PostgREST)
                              A role without its own URL connects with DATABASE_URL and switches.
  BELLWIRE_DATA               folder of the embedded database (default: .bellwire)
                              .env.example lists the others.

Exit codes: 0 done, 1 the command failed, 2 the command line was wrong.
`;

const EXAMPLES_HELP = `
Examples:
  bellwire start                          everything, with demo data, on http://localhost:3000
  bellwire start --port 8080 --no-seed
  bellwire db --port 5432                 only the database, for psql and your own tools
  DATABASE_URL=postgres://… bellwire migrate
  bellwire demo --json
  bellwire check-url https://example.com/hooks
`;

const CHECK_URL_HELP = `
Made-up answers stand for what DNS says of every name, so that a rule can be tried without one.
Without --allow and --ports, WEBHOOK_ALLOW and WEBHOOK_PORTS of the environment count, as they do
for the worker; --allow '' leaves the list out.

Examples:
  bellwire check-url https://example.com/hooks
  bellwire check-url http://hooks.lan:8443/ --allow hooks.lan:8443
  bellwire check-url https://example.com/ --answers 93.184.216.34,10.0.0.5
  bellwire check-url http://0x7f.1/ 'http://[::ffff:10.0.0.1]/' --json

Exit codes: 0 each URL would be sent to, 1 at least one is refused or does not resolve now,
2 nothing was checked: the command line or the environment makes no sense.
`;

/** Parses the command line and runs one command. Sets the exit code; never throws. */
export async function main(argv: string[]): Promise<void> {
  // Whoever reads may stop reading (bellwire --help | head); what runs goes on.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const program = buildProgram();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version come as errors too, with code 0; commander has printed the rest.
      process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR_CODE;
      return;
    }
    console.error(describeError(error));
    process.exitCode = FAILURE_CODE;
  }
}

function buildProgram(): Command {
  const program = new Command('bellwire')
    .description('Make any Postgres table watchable: activity, notifications, mail, webhooks.')
    .version(readVersion(), '-v, --version')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', EXAMPLES_HELP + ENVIRONMENT_HELP)
    .showSuggestionAfterError()
    .showHelpAfterError('(see bellwire --help)')
    .exitOverride();
  addStart(program);
  addServer(program);
  addWorker(program);
  addMigrate(program);
  addDb(program);
  addDemo(program);
  addCheckUrl(program);
  for (const command of program.commands) command.allowExcessArguments(false);
  return program;
}

function addStart(program: Command): void {
  program
    .command('start')
    .description('database, server, worker and mail catcher in one process')
    .option('-p, --port <number>', 'port of the web server (default: PORT or 3000)', parsePort)
    .option('--host <address>', 'address to listen on (default: HOST or 127.0.0.1)')
    .option('--data <folder>', 'folder of the embedded database (default: BELLWIRE_DATA)')
    .option('--no-seed', 'leave out the demo data')
    .action(async (options) => {
      const { runStart } = await import('./start.ts');
      exitWith(await runStart(options));
    });
}

function addServer(program: Command): void {
  program
    .command('server')
    .description('the HTTP and WebSocket server, on an existing database')
    .option('-p, --port <number>', 'port (default: PORT or 3000)', parsePort)
    .option('--host <address>', 'address to listen on (default: HOST or 127.0.0.1)')
    .action(async (options) => {
      const { runServerCommand } = await import('./processes.ts');
      exitWith(await runServerCommand(options));
    });
}

function addWorker(program: Command): void {
  program
    .command('worker')
    .description('the background worker, on an existing database; run as many as you like')
    .action(async () => {
      const { runWorkerCommand } = await import('./processes.ts');
      exitWith(await runWorkerCommand());
    });
}

function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring DATABASE_URL up to date; safe to run twice, or two at once')
    .action(async () => {
      const { runMigrateCommand } = await import('./processes.ts');
      exitWith(await runMigrateCommand());
    });
}

function addDb(program: Command): void {
  program
    .command('db')
    .description('the embedded database in the foreground, migrated, with its URLs printed')
    .option('-p, --port <number>', 'port on 127.0.0.1 (default: the last one, or any)', parsePort)
    .option('--data <folder>', 'folder of the database (default: BELLWIRE_DATA)')
    .action(async (options) => {
      const { runDbCommand } = await import('./processes.ts');
      exitWith(await runDbCommand(options));
    });
}

function addDemo(program: Command): void {
  program
    .command('demo')
    .description('replay real GitHub events end to end on throw-away data and check every step')
    .option('--json', 'end with one line of JSON with the counts', false)
    .action(async (options: { json: boolean }) => {
      const { runDemo } = await import('../demo/main.ts');
      exitWith(await runDemo({ json: options.json }));
    });
}

function addCheckUrl(program: Command): void {
  program
    .command('check-url')
    .description('may a webhook go to these URLs, and to which addresses; sends nothing')
    .argument('<url...>')
    .option('--answers <addresses>', 'made-up DNS answers, by comma, in place of the real ones')
    .option('--allow <list>', 'in place of WEBHOOK_ALLOW')
    .option('--ports <list>', 'in place of WEBHOOK_PORTS')
    .option('--json', 'one line of JSON per URL', false)
    .addHelpText('after', CHECK_URL_HELP)
    .action(async (urls: string[], options) => {
      const { runCheckUrl } = await import('./check-url.ts');
      exitWith(await runCheckUrl(urls, options));
    });
}

/** Ends at once: what a command leaves open (a pool, a timer) must not keep the process alive. */
function exitWith(code: number): void {
  process.exitCode = code;
  // Output to a pipe is written asynchronously: let it out first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= MAX_PORT) return port;
  throw new InvalidArgumentError(`A port is a whole number from 1 to ${MAX_PORT}.`);
}

function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return String(JSON.parse(manifest).version);
}
