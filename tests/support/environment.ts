import type { StageIds } from '../sql/stage.ts';

/** URLs of the migrated template database, one per login. */
export interface ServerUrls {
  adminUrl: string;
  serverUrl: string;
  workerUrl: string;
  authenticatorUrl: string;
}

/** A database with the people and things every test of the rules has a use for. */
export interface SetStage {
  template: string;
  ids: StageIds;
}

/** What `npm test` tells each test file about the database server it started. */
export interface TestEnvironment extends ServerUrls {
  /** Migrated and empty. */
  template: string;
  stage?: SetStage;
}

export function readTestEnvironment(): TestEnvironment {
  const text = process.env.BELLWIRE_TEST_ENVIRONMENT;
  if (!text) {
    throw new Error('Tests need the database that npm test starts: npm test -- <file>');
  }
  return JSON.parse(text) as TestEnvironment;
}

/** The variables for a test file's process: those of this one without any real database. */
export function testProcessEnvironment(environment: TestEnvironment): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(DATABASE_|BELLWIRE_|PG[A-Z]+$|SMTP_)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    BELLWIRE_TEST_ENVIRONMENT: JSON.stringify(environment),
  };
}
