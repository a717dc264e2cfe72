import type pg from 'pg';
import type { Row, Stage } from '../fixtures.ts';
import { PERSONAS, type PersonaName } from './two-tenants.ts';

/** What a caller is told who may not; P0002 is said by triggers of what they cannot see. */
const REFUSALS = ['42501', 'P0002'];

const OWNER = 'bellwire_owner';

/** Rows that are tried, per tenant, to find one that may be inserted. */
const INSERT_CANDIDATES = 3;

const SCHEMAS = "('bellwire', 'identity', 'suite', 'api', 'bellwire_tracked')";

/** The tenant of a row, where no column says it; `row` is the row. */
const TENANT_OF: Record<string, string> = {
  'bellwire.workspaces': 'row.id',
  'bellwire.users': ofPerson('row.id'),
  'bellwire.notification_preferences': ofPerson('row.user_id'),
  'bellwire.waiting_members': ofPerson('row.user_id'),
  'bellwire.watches': '(select workspace_id from bellwire.resources where id = row.resource_id)',
  'bellwire.memberships': '(select workspace_id from bellwire.resources where id = row.scope_id)',
  'bellwire.email_outbox':
    '(select workspace_id from bellwire.notifications where id = row.notification_id)',
  'bellwire.fan_out_queue': `(row.event ->> 'workspace_id')::bigint`,
  'bellwire.webhook_deliveries':
    '(select workspace_id from bellwire.webhook_events where id = row.event_id)',
  'bellwire.webhook_secrets':
    '(select workspace_id from bellwire.webhook_subscriptions where id = row.subscription_id)',
  'bellwire.admin_backlog':
    '(select workspace_id from bellwire.webhook_subscriptions where id = row.subscription_id)',
  'bellwire.admin_unread': ofPerson('row.user_id'),
  'bellwire.admin_watches':
    '(select workspace_id from bellwire.resources where type = row.type and ref = row.ref)',
  'identity.email_changes': ofPerson('row.user_id'),
  'identity.passwords': ofPerson('row.user_id'),
  'identity.password_resets': ofPerson('row.user_id'),
  'identity.recovery_codes': ofPerson('row.user_id'),
  'identity.second_factors': ofPerson('row.user_id'),
  'identity.sign_in_steps': ofPerson('row.user_id'),
  'identity.sessions': ofPerson('row.user_id'),
  'api.workspaces': 'row.id',
  'api.watches':
    '(select workspace_id from bellwire.resources where type = row.resource_type and ref = row.resource_id)',
  'api.versions': ofSquad('(select squad_id from suite.logs where id = row.document_id)'),
  'api.comments': ofSquad('(select squad_id from suite.logs where id = row.document_id)'),
};

/** What names a row of a view without an id, where the row itself says something new each time. */
const KEY_OF: Record<string, string> = {
  'bellwire.admin_backlog': "row.what || coalesce(' ' || row.subscription_id, '')",
};

function ofPerson(id: string): string {
  return `(select min(workspace_id) from suite.workspace_members where user_id = ${id})`;
}

function ofSquad(id: string): string {
  return `(select workspace_id from suite.squads where id = ${id})`;
}

interface Relation {
  name: string;
  isTable: boolean;
  columns: string[];
  identity: string[];
  /** Key to tenant, of every row there is; null where it belongs to none. */
  tenants: Map<string, number | null>;
  rows: { key: string; row: Row }[];
}

/** Every table and view, with its rows. */
export async function relationsOf(stage: Stage, only?: string[]): Promise<Relation[]> {
  const found = await stage.look(
    `select class.oid::regclass::text as name, class.relkind = 'r' as is_table,
       array_agg(attribute.attname::text order by attribute.attname)::text[] as columns,
       coalesce(array_agg(attribute.attname::text) filter (where attribute.attidentity = 'a'), '{}') as identity
     from pg_class as class
     join pg_attribute as attribute on attribute.attrelid = class.oid and attnum > 0 and not attisdropped
     where class.relnamespace::regnamespace::text in ${SCHEMAS} and class.relkind in ('r', 'p', 'v', 'm', 'f')
       and ($1::text[] is null or class.oid::regclass::text = any ($1))
     group by class.oid order by class.oid::regclass::text collate "C"`,
    [only ?? null],
  );
  const relations: Relation[] = [];
  for (const { name, is_table, columns, identity } of found) {
    const relation = {
      name: name as string,
      isTable: is_table as boolean,
      columns: columns as string[],
      identity: identity as string[],
    };
    const rows = await stage.look(
      `select ${keyOf(relation)} as key, to_jsonb(row) as row, ${tenantOf(relation)} as tenant from ${name} as row`,
    );
    relations.push({
      ...relation,
      tenants: new Map(rows.map(({ key, tenant }) => [key as string, tenant as number | null])),
      rows: rows.map(({ key, row }) => ({ key: key as string, row: row as Row })),
    });
  }
  return relations;
}

function keyOf({ name, columns }: Pick<Relation, 'name' | 'columns'>): string {
  if (columns.includes('id')) return 'row.id::text';
  return KEY_OF[name] ?? 'to_jsonb(row)::text';
}

export function tenantOf({ name, columns }: Pick<Relation, 'name' | 'columns'>): string {
  if (TENANT_OF[name]) return TENANT_OF[name];
  if (columns.includes('workspace_id')) return 'row.workspace_id';
  if (columns.includes('squad_id')) return ofSquad('row.squad_id');
  return 'null::bigint';
}

/** What everybody may do with every table and view: name, then persona to sentence. */
export async function measure(
  stage: Stage,
  only?: string[],
): Promise<Map<string, Map<PersonaName, string>>> {
  const relations = await relationsOf(stage, only);
  const measured = new Map(relations.map(({ name }) => [name, new Map<PersonaName, string>()]));
  const client = await stage.database.admin.connect();
  try {
    for (const persona of Object.keys(PERSONAS) as PersonaName[]) {
      const attempt = new Attempt(client, stage, persona);
      for (const relation of relations) {
        measured.get(relation.name)?.set(persona, await attempt.all(relation));
      }
    }
  } finally {
    client.release();
  }
  return measured;
}

/** One persona's attempts; each is rolled back. */
class Attempt {
  readonly #client: pg.PoolClient;
  readonly #role: string;
  readonly #claims: string;
  readonly #tenant: number | undefined;

  constructor(client: pg.PoolClient, stage: Stage, persona: PersonaName) {
    const known: { role: string; person?: keyof Stage['people'] } = PERSONAS[persona];
    this.#client = client;
    this.#role = known.role;
    const claims: Record<string, string> = { role: known.role };
    if (known.person) {
      claims.sub = String(stage.people[known.person]);
      this.#tenant = persona === 'stranger' ? stage.strangerWorkspaceId : stage.workspaceId;
    }
    this.#claims = JSON.stringify(claims);
  }

  async all(relation: Relation): Promise<string> {
    const done = [phrase('select', await this.#select(relation))];
    // Whoever owns a view may do anything with it; what counts is the tables below.
    if (relation.isTable || this.#role !== OWNER) {
      done.push(phrase('insert', await this.#insert(relation)));
      done.push(phrase('update', await this.#update(relation)));
      done.push(phrase('delete', await this.#delete(relation)));
    }
    const told = done.filter(Boolean);
    if (told.length === 4 && told.every((part) => part.endsWith(' none'))) return 'finds no row';
    return told.join(', ');
  }

  async #select(relation: Relation): Promise<string | undefined> {
    return this.#try(false, async () => {
      const { rows } = await this.#client.query(
        `select ${keyOf(relation)} as key from ${relation.name} as row`,
      );
      return this.#share(relation, new Set(rows.map(({ key }) => key)));
    });
  }

  async #insert(relation: Relation): Promise<string | undefined> {
    const columns = await this.#columns(relation, 'INSERT');
    if (columns.length === 0) return undefined;
    if (!relation.isTable) return 'IN A VIEW';
    const allowed = new Set<string>();
    const tried = new Map<number | null, number>();
    const names = columns.filter((name) => !relation.identity.includes(name)).join(', ');
    for (const { key, row } of relation.rows) {
      const tenant = relation.tenants.get(key) ?? null;
      if ((tried.get(tenant) ?? 0) >= INSERT_CANDIDATES) continue;
      tried.set(tenant, (tried.get(tenant) ?? 0) + 1);
      const passed = await this.#try(false, async () => {
        await this.#client.query(
          `insert into ${relation.name} (${names})
           select ${names} from jsonb_populate_record(null::${relation.name}, $1)`,
          [JSON.stringify(row)],
        );
        return 'yes';
      });
      if (passed) allowed.add(String(tenant));
    }
    const share =
      allowed.size === tried.size
        ? 'all'
        : allowed.size === 0
          ? 'none'
          : [...allowed].every((tenant) => tenant === String(this.#tenant))
            ? 'own'
            : 'OTHERS';
    return share + listed(relation, columns);
  }

  async #update(relation: Relation): Promise<string | undefined> {
    const columns = await this.#columns(relation, 'UPDATE');
    const [column] = columns.filter((name) => !relation.identity.includes(name));
    if (columns.length === 0) return undefined;
    if (!relation.isTable) return 'IN A VIEW';
    // An identity cannot be set: a right on it alone is the right to lock.
    if (!column) return `lock${listed(relation, columns)}`;
    const share = await this.#changed(
      relation,
      `update ${relation.name} set ${column} = ${column}`,
    );
    return share && share + listed(relation, columns);
  }

  async #delete(relation: Relation): Promise<string | undefined> {
    if (!relation.isTable) {
      const may = await this.#privilege(relation, 'DELETE');
      return may ? 'IN A VIEW' : undefined;
    }
    return this.#changed(relation, `delete from ${relation.name}`);
  }

  /** Which rows are new or gone after a statement; triggers and foreign keys look away. */
  async #changed(relation: Relation, sql: string): Promise<string | undefined> {
    const places = `select ${keyOf(relation)} as key from ${relation.name} as row
      where xmin = pg_current_xact_id()::xid`;
    return this.#try(true, async () => {
      const deletes = sql.startsWith('delete');
      await this.#client.query(sql);
      await this.#client.query('reset role');
      const { rows } = await this.#client.query(
        deletes ? `select ${keyOf(relation)} as key from ${relation.name} as row` : places,
      );
      const keys = new Set<string>(rows.map(({ key }) => key));
      return this.#share(
        relation,
        deletes ? new Set([...relation.tenants.keys()].filter((key) => !keys.has(key))) : keys,
      );
    });
  }

  async #columns(relation: Relation, privilege: string): Promise<string[]> {
    const { rows } = await this.#client.query(
      `select attname::text as name from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped
         and has_column_privilege($2, attrelid, attnum, $3)
       order by attname`,
      [relation.name, this.#role, privilege],
    );
    return rows.map(({ name }) => name);
  }

  async #privilege(relation: Relation, privilege: string): Promise<boolean> {
    const { rows } = await this.#client.query('select has_table_privilege($1, $2, $3) as may', [
      this.#role,
      relation.name,
      privilege,
    ]);
    return rows[0].may;
  }

  /** Of whose rows these are: all, own (of the persona's tenant), part of those, none. */
  #share(relation: Relation, keys: Set<string>): string {
    if (keys.size === 0) return 'none';
    if (keys.size === relation.tenants.size) return 'all';
    const tenants = [...keys].map((key) => relation.tenants.get(key));
    if (tenants.every((tenant) => tenant === null)) return 'part';
    if (!tenants.every((tenant) => tenant === this.#tenant)) return "OTHERS'";
    const own = [...relation.tenants.values()].filter((tenant) => tenant === this.#tenant);
    return keys.size === own.length ? 'own' : 'part';
  }

  /** Undefined when it is refused; any other error than a refusal means that row security let it pass. */
  async #try(quietly: boolean, use: () => Promise<string>): Promise<string | undefined> {
    await this.#client.query('begin');
    try {
      if (quietly) await this.#client.query('set local session_replication_role = replica');
      await this.#client.query("select set_config('request.jwt.claims', $1, true)", [this.#claims]);
      await this.#client.query(`set local role ${this.#role}`);
      return await use();
    } catch (error) {
      const { code } = error as { code?: string };
      if (code && REFUSALS.includes(code)) return undefined;
      if (code?.startsWith('23')) return 'yes';
      throw error;
    } finally {
      await this.#client.query('rollback');
    }
  }
}

function phrase(verb: string, share: string | undefined): string {
  return share === undefined ? '' : `${verb} ${share}`;
}

/** The columns, where they are not all there are. */
function listed(relation: Relation, columns: string[]): string {
  const settable = relation.columns.length;
  return columns.length === settable ? '' : ` (${columns.join(' ')})`;
}
