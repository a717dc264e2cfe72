-- claim_webhooks(), and what seals and rotates; administrators neither.
select bellwire.close_table('bellwire.webhook_secrets');

create policy select_definer on bellwire.webhook_secrets for select to bellwire_definer using (true);
create policy insert_definer on bellwire.webhook_secrets for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.webhook_secrets for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.webhook_secrets for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.webhook_secrets to bellwire_definer;
