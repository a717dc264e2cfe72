const SCHEMAS = "('bellwire', 'identity', 'suite', 'api', 'bellwire_tracked')";
/** The migration's own notes: they belong to the role that migrates, and all that anybody else may do is what readiness() does. */
const NOTES = "('schema_migrations', 'applied_files')";

/** The rules nobody has to remember: each query gives what breaks one. */
export const RULES: [rule: string, query: string][] = [
  [
    'every table has row security enabled and forced',
    `select oid::regclass from pg_class
     where relnamespace::regnamespace::text in ${SCHEMAS} and relkind in ('r', 'p') and relname not in ${NOTES}
       and not (relrowsecurity and relforcerowsecurity)`,
  ],
  [
    'every table belongs to bellwire_owner',
    `select oid::regclass from pg_class
     where relnamespace::regnamespace::text in ${SCHEMAS} and relkind in ('r', 'p', 'v', 'm') and relname not in ${NOTES}
       and relowner <> 'bellwire_owner'::regrole`,
  ],
  [
    'every view runs with the rights of who asks',
    `select oid::regclass from pg_class
     where relnamespace::regnamespace::text in ${SCHEMAS} and relkind in ('v', 'm')
       and not coalesce(reloptions @> '{security_invoker=true}', false)`,
  ],
  [
    'schema api holds no table',
    `select oid::regclass from pg_class where relnamespace = 'api'::regnamespace and relkind in ('r', 'p', 'm', 'f')`,
  ],
  [
    'every table and view has a comment',
    `select oid::regclass from pg_class
     where relnamespace::regnamespace::text in ${SCHEMAS} and relkind in ('r', 'p', 'v', 'm')
       and obj_description(oid, 'pg_class') is null`,
  ],
  [
    'every function has a comment, the generated ones aside',
    `select oid::regprocedure from pg_proc
     where pronamespace::regnamespace::text in ('bellwire', 'identity', 'suite', 'api')
       and obj_description(oid, 'pg_proc') is null`,
  ],
  [
    'every column of a table and of a view has a comment',
    `select class.oid::regclass || '.' || attribute.attname
     from pg_attribute as attribute
     join pg_class as class on class.oid = attribute.attrelid
     where class.relnamespace::regnamespace::text in ${SCHEMAS}
       and class.relkind in ('r', 'p', 'v', 'm') and class.relname not in ${NOTES}
       and attribute.attnum > 0 and not attribute.attisdropped
       and col_description(class.oid, attribute.attnum) is null`,
  ],
  [
    'every type has a comment',
    `select type.oid::regtype from pg_type as type
     left join pg_class as class on class.oid = type.typrelid
     where type.typnamespace::regnamespace::text in ${SCHEMAS}
       and (type.typtype in ('e', 'd', 'r') or class.relkind = 'c')
       and obj_description(type.oid, 'pg_type') is null`,
  ],
  [
    'every index says what it serves, those of constraints aside',
    `select index.indexrelid::regclass from pg_index as index
     join pg_class as class on class.oid = index.indrelid
     where class.relnamespace::regnamespace::text in ${SCHEMAS}
       and not exists (select from pg_constraint where conindid = index.indexrelid)
       and obj_description(index.indexrelid, 'pg_class') is null`,
  ],
  [
    'every table has its file of policies',
    `select class.oid::regclass from pg_class as class
     where class.relnamespace::regnamespace::text in ${SCHEMAS} and class.relkind in ('r', 'p') and class.relname not in ${NOTES}
       and not exists (
         select from bellwire.applied_files where path = 'policies/' || class.oid::regclass || '.sql')`,
  ],
  [
    'every schema has a comment',
    `select nspname from pg_namespace where nspname in ${SCHEMAS} and obj_description(oid, 'pg_namespace') is null`,
  ],
  [
    'no function is for everybody',
    `select function.oid::regprocedure from pg_proc as function
     cross join lateral aclexplode(coalesce(function.proacl, acldefault('f', function.proowner))) as granted
     where function.pronamespace::regnamespace::text in ${SCHEMAS} and granted.grantee = 0`,
  ],
  [
    'no table is for everybody',
    `select class.oid::regclass from pg_class as class
     cross join lateral aclexplode(class.relacl) as granted
     where class.relnamespace::regnamespace::text in ${SCHEMAS} and granted.grantee = 0`,
  ],
  [
    'nobody but their owners creates in a schema, and everybody has no use of one',
    `select namespace.nspname || ': ' || granted.privilege_type || ' to ' || granted.grantee::regrole
     from pg_namespace as namespace
     cross join lateral aclexplode(namespace.nspacl) as granted
     where namespace.nspname in ${SCHEMAS}
       and (granted.grantee = 0 or granted.privilege_type = 'CREATE'
         and granted.grantee::regrole::text not in ('bellwire_owner', 'bellwire_definer'))`,
  ],
  [
    'every plpgsql and every definer function has an empty search path',
    `select function.oid::regprocedure from pg_proc as function
     join pg_language as language on language.oid = function.prolang
     where function.pronamespace::regnamespace::text in ${SCHEMAS}
       and (function.prosecdef or language.lanname = 'plpgsql')
       and not coalesce(function.proconfig @> array['search_path=""'], false)`,
  ],
  [
    'every generated function keeps its plan, whatever it was made for, and does not compile it',
    `select oid::regprocedure from pg_proc
     where pronamespace = 'bellwire_tracked'::regnamespace
       and not coalesce(
         proconfig @> array['plan_cache_mode=force_generic_plan', 'enable_seqscan=off', 'jit=off'], false)`,
  ],
  [
    'every definer function belongs to bellwire_definer',
    `select oid::regprocedure from pg_proc
     where pronamespace::regnamespace::text in ${SCHEMAS} and prosecdef
       and proowner <> 'bellwire_definer'::regrole`,
  ],
  [
    'no role of ours goes around row security',
    `select rolname from pg_roles
     where (rolname ~ '^bellwire_(owner|definer|server|worker|admin)$'
         or rolname in ('anon', 'authenticated', 'service', 'authenticator'))
       and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)`,
  ],
  [
    'the logins become request roles and nothing else',
    `select member::regrole || ' -> ' || roleid::regrole from pg_auth_members
     where member::regrole::text in ('bellwire_server', 'authenticator', 'bellwire_worker', 'anon', 'authenticated', 'service')
       and not (member::regrole::text in ('bellwire_server', 'authenticator')
         and roleid::regrole::text in ('anon', 'authenticated', 'service'))`,
  ],
  [
    'request roles write no table of the engine, read_at of notifications aside',
    `select granted.table_schema || '.' || granted.table_name || ': ' || granted.privilege_type || ' to ' || granted.grantee
     from information_schema.role_table_grants as granted
     where granted.table_schema in ('bellwire', 'identity', 'bellwire_tracked')
       and granted.grantee in ('anon', 'authenticated', 'service', 'bellwire_server', 'authenticator', 'bellwire_worker')
       and granted.privilege_type <> 'SELECT'
     union all
     select table_schema || '.' || table_name || '.' || column_name || ': ' || privilege_type || ' to ' || grantee
     from information_schema.role_column_grants
     where table_schema in ('bellwire', 'identity') and privilege_type <> 'SELECT'
       and grantee in ('anon', 'authenticated', 'service', 'bellwire_server', 'authenticator', 'bellwire_worker')
       and (table_name, column_name, privilege_type, grantee) <> ('notifications', 'read_at', 'UPDATE', 'authenticated')`,
  ],
  [
    'nobody has no table at all, the worker and the server read none directly',
    `select table_schema || '.' || table_name || ' to ' || grantee
     from information_schema.role_table_grants
     where table_schema in ${SCHEMAS}
       and grantee in ('anon', 'bellwire_worker', 'bellwire_server', 'authenticator')`,
  ],
  [
    'an update by a request role names its columns',
    `select table_schema || '.' || table_name from information_schema.role_table_grants
     where table_schema in ${SCHEMAS} and privilege_type = 'UPDATE'
       and grantee in ('anon', 'authenticated', 'service')`,
  ],
  [
    'one permissive policy per table, command and role, and each names its roles',
    `select polrelid::regclass || ' ' || polcmd::text || ' ' || role::regrole
     from pg_policy cross join lateral unnest(polroles) as role
     where polpermissive
     group by polrelid, polcmd, role
     having count(*) > 1 or role = 0 or polcmd = '*'`,
  ],
  [
    'every text column is bounded',
    `select attribute.attrelid::regclass || '.' || attribute.attname
     from pg_attribute as attribute
     join pg_class as class on class.oid = attribute.attrelid and class.relkind = 'r'
     where class.relnamespace::regnamespace::text in ('bellwire', 'identity', 'suite')
       and attribute.atttypid = 'text'::regtype and attribute.attnum > 0 and not attribute.attisdropped
       and class.relname not in ${NOTES}
       -- Copies of keys and titles that are bounded where they come from; a check is run at every write.
       and (class.relname, attribute.attname) not in (
         ('activity_log', 'action'), ('notifications', 'kind'), ('webhook_events', 'type'), ('webhook_events', 'title'))
       and not exists (
         select from pg_constraint as constraint_
         where constraint_.conrelid = attribute.attrelid and constraint_.contype in ('c', 'f')
           and attribute.attnum = any (constraint_.conkey))`,
  ],
];
