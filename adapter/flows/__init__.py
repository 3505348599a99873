"""What happens: answer, relist, mirror, and the supervision of what runs for ever. Decisions are in other rooms."""
